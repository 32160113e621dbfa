/**
 * Examples from the SNAP documents of Midtrans ("Signature", "HTTP Notification"). Midtrans also publishes the private
 * key, which no test needs.
 */
export const MIDTRANS_PUBLIC_KEY = [
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAlWbtlh3eM+bW3n5AFj42wddC4L7tQqbLiCFbTv8K67yng9iwK5mE',
  'n+UMXiRhvB2JVWFafCPPxFamsiVG3MjneGjC0BYgmpmw4qXnAnyO3nCdCuPtmZ3ljhKvSTPdWZxrcLi1Xa9V/+Pzb8hrjb5i',
  'wMn6SZFNeMmZYgFKiSeueo6TPln2PoTqXCzs1HtsM8eUVe8GAsjJe/3dYl992nyXOpG21GgNu8o5T3WOptPg6GdDTWkTWUu4',
  '83yRbVVy04Pz4L8DDZTDv+WcsAViDn1rA/jB1Auj/UGKx2ovGcBH/a/hor5TbABbODU6cPTHT54K3sSZtvZNV4eFDB1f/4wd',
  'fwIDAQAB',
].join('');

export const PUBLISHED_CALL = {
  secret: 'myclientsecret',
  token: 'myaccesstoken',
  path: '/v1.0/qr/qr-mpm-generate',
  timestamp: '2024-03-05T10:37:16.196Z',
  body: [
    '{"partnerReferenceNo":"2020102900000000000001","amount":{"value":"12345678.00","currency":"IDR"}',
    ',"feeAmount":{"value":"12345678.00","currency":"IDR"},"merchantId":"00007100010926","terminalId"',
    ':"213141251124","validityPeriod":"2009-07-03T12:08:56-07:00"}',
  ].join(''),
  hash: '01463f60dbb6ca538581579dd95b31c8ba9fc6600eca750e4d8460ca4e402111',
  signature: 'wmzT7yjg1SxxCsxNsFgCR9SYXiZGGbceF6fV8xe97sAMHxZ+7OEBMIBmvb6Sj6GcksGp3iv77DiomgSbcST3XQ==',
};

export const PUBLISHED_TOKEN = {
  clientId: 'G1234325-SNAP',
  timestamp: '2024-03-01T08:27:49.024Z',
  signature: [
    'WzW49tYIgKIBmBi/gVBHGLAkhEaZlXM11zcZxAiyHji6TLPjPbwLu3Z45it25AIeG0XDItcdTSkds47zFEMh6IP0PXPIP1+E',
    'y4RmX/o2fuYRF/xBHvfvKnMmANMTS1axsXBSW3EHqYpbVrkCcqNnB3u+wu63us9WIhRZaWgxgQ2PJLaiVHIwgu9u7jxkWX7B',
    'g4rerZH3RKdQfIJAAJsSN13efR7VdSAyzU7QaKjgislxrLqmesYNJkbD03XLjHdo6YWuzAVV7xdZRpLiGkIAkW7luXTBZYBO',
    '+4oENZAPQYzrLeN1qRY1Sr7BgLONCA2QA26BB6SYW4R7qofS9+RyOQ==',
  ].join(''),
};

export const PUBLISHED_NOTIFICATION = {
  path: '/v1.0/debit/notify',
  timestamp: '2024-05-02T14:43:08+07:00',
  body: [
    '{"originalPartnerReferenceNo":"GP24043015193402809","originalReferenceNo":"A120240430081940S9vu8',
    'gSjaRID","merchantId":"G099333790","amount":{"value":"102800.00","currency":"IDR"},"latestTransa',
    'ctionStatus":"00","transactionStatusDesc":"SUCCESS","additionalInfo":{"refundHistory":[]}}',
  ].join(''),
  signature: [
    'RoJnP2tH/YiOhHM/lMVBMSAuzRmS8VrWdIy04Qqyb56daV7oWFMFoMMzqnjQ+q0MIUalYgU094GWQnCx2c29xb1kkqHhv2+i',
    'J9xl6NjGmFGYqyvcKvUDAV83Y1Mw9JnsEcjcupdGw9/MRv/mm2GMrQ+BCZGfc4a46JDyPZbcY294vDGqs5rFBN6iYer5ro4c',
    'AQGo9hET2G82Y+j50vCyO/79GFE4vB1rvtu6PK2Bxi+vTYV8k7P7PS8tOPWM2O+kjiVWjwvLR99Botou+a8sxlQqZaihfWMK',
    'cByzV+Lgkr9cptpjys+1NIRWT1ad/sJBSLHyldzC3q2oRn5z5oZmyg==',
  ].join(''),
};
