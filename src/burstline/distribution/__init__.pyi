from burstline.distribution.cluster import workers_of as workers_of
from burstline.distribution.workers import DaskWorkers as DaskWorkers
