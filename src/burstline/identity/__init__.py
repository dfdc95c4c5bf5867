"""The names of calls and of the bursts between them, and where these names hold.

========== ========================= ============================ ===========================
notion     in structure: a site      in a table: texts            in matching: tokens
========== ========================= ============================ ===========================
holds for  all ranks of one run      all runs, read one by one    runs read together
operation  name                      name                         name, as a number
place      cleaned path              ``function@file:line;…``     cleaned path, if runs share
                                                                  most; and the labelled loop
without    communicator, and the     nothing                      nothing
place      partner's rank relative
           to the caller's
communi-   ``world``, ``self`` or    ``world``, ``self`` or the   as in a table
cator      the id in the source      members: ``0-3,7``
partner    no part of it, but where  rank; of a completion, the   rank; of a completion, the
           there is no place         sender of all the messages   partner of the one message
                                     that it completed            that it completed
========== ========================= ============================ ===========================

Cleaned paths, communicators' labels and operations' names are made once, for all of them.
The call tree of a run has a path for each call and each region: the rows of a profile.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
