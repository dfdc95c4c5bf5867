#include "blame.h"

void relax(int units) { work(units); }
