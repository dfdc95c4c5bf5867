from burstline.browser.app import Browser as Browser
from burstline.browser.outline import View as View
from burstline.browser.outline import chosen_ranks as chosen_ranks
