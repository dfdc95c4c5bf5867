from burstline.sync.columns import Collectives as Collectives
from burstline.sync.columns import Intervals as Intervals
from burstline.sync.columns import Messages as Messages
from burstline.sync.columns import Sync as Sync
from burstline.sync.columns import sync_of as sync_of
from burstline.sync.teams import Barriers as Barriers
from burstline.sync.teams import Locks as Locks
from burstline.sync.teams import Teams as Teams
