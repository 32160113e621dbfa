import { z } from 'zod';
import { disableEndpoint } from '../../../services/webhooks/disable-endpoint';
import { memberFormPages } from '../form-pages';
import { endpointConfirm } from './endpoint-confirm';
import { ENDPOINT_ACTION_PATHS, endpointPath } from './webhook-paths';
import { WEBHOOK_TEXTS } from './webhook-texts';

export const disableEndpointPages = memberFormPages({
  at: ENDPOINT_ACTION_PATHS.disable,
  operation: disableEndpoint,
  path: ({ endpoint }) => ({ endpoint }),
  fields: () => z.object({}),
  errors: ({ locale }) => WEBHOOK_TEXTS[locale.language].form.errors,
  rejections: ({ locale }) => ({ disabled: () => WEBHOOK_TEXTS[locale.language].rejections.disabled }),
  done: ({ id }, { view: { code } }) => endpointPath.to({ code, endpoint: id }, { done: 'disabled' }),
  render: (page) => endpointConfirm({ ...page, action: 'disable' }),
});
