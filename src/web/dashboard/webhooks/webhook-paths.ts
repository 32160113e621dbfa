import { z } from 'zod';
import { merchantCode, pagePath } from '../../page/page-path';

const ofMerchant = { code: merchantCode };
const ofEndpoint = { code: merchantCode, endpoint: z.uuid() };
const ofDelivery = { code: merchantCode, delivery: z.uuid() };

export const endpointsPath = pagePath('/m/:code/developers/webhooks', ofMerchant);
export const newEndpointPath = pagePath('/m/:code/developers/webhooks/new', ofMerchant);
export const endpointPath = pagePath('/m/:code/developers/webhooks/:endpoint', ofEndpoint);

/** What can be done with an endpoint, each at a path of its own. */
export const ENDPOINT_ACTION_PATHS = {
  edit: pagePath('/m/:code/developers/webhooks/:endpoint/edit', ofEndpoint),
  rotate: pagePath('/m/:code/developers/webhooks/:endpoint/rotate', ofEndpoint),
  ping: pagePath('/m/:code/developers/webhooks/:endpoint/ping', ofEndpoint),
  disable: pagePath('/m/:code/developers/webhooks/:endpoint/disable', ofEndpoint),
  enable: pagePath('/m/:code/developers/webhooks/:endpoint/enable', ofEndpoint),
  delete: pagePath('/m/:code/developers/webhooks/:endpoint/delete', ofEndpoint),
} as const;

export const deliveriesPath = pagePath('/m/:code/developers/deliveries', ofMerchant);
export const redeliverRangePath = pagePath('/m/:code/developers/deliveries/redeliver', ofMerchant);
export const deliveryPath = pagePath('/m/:code/developers/deliveries/:delivery', ofDelivery);
export const redeliverPath = pagePath('/m/:code/developers/deliveries/:delivery/redeliver', ofDelivery);
