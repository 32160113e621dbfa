import { z } from 'zod';
import { enableEndpoint } from '../../../services/webhooks/enable-endpoint';
import { memberFormPages } from '../form-pages';
import { endpointConfirm } from './endpoint-confirm';
import { ENDPOINT_ACTION_PATHS, endpointPath } from './webhook-paths';
import { WEBHOOK_TEXTS } from './webhook-texts';

export const enableEndpointPages = memberFormPages({
  at: ENDPOINT_ACTION_PATHS.enable,
  operation: enableEndpoint,
  path: ({ endpoint }) => ({ endpoint }),
  fields: () => z.object({}),
  errors: ({ locale }) => WEBHOOK_TEXTS[locale.language].form.errors,
  rejections: ({ locale }) => ({ enabled: () => WEBHOOK_TEXTS[locale.language].rejections.enabled }),
  done: ({ id }, { view: { code } }) => endpointPath.to({ code, endpoint: id }, { done: 'enabled' }),
  render: (page) => endpointConfirm({ ...page, action: 'enable' }),
});
