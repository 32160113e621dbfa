"""Calls services 16, 18 and 36 with the published client of Faspay. Prints one response per line."""

import json
import sys

from FaspaySendmeSnap import Api

METHODS = {
    "inquiry": Api.Services.accountInquiry,
    "transfer": Api.Services.transferInterbank,
    "transfer_status": Api.Services.transferStatus,
}

for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(METHODS[request["service"]](Api.Services, request["body"])))
