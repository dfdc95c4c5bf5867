from burstline.browser.app import Browser as Browser
from burstline.browser.outline import OutlineView as OutlineView
from burstline.browser.outline import chosen_ranks as chosen_ranks
