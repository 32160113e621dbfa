import { z } from 'zod';
import { deleteEndpoint } from '../../../services/webhooks/delete-endpoint';
import { memberFormPages } from '../form-pages';
import { endpointConfirm } from './endpoint-confirm';
import { ENDPOINT_ACTION_PATHS, endpointsPath } from './webhook-paths';
import { WEBHOOK_TEXTS } from './webhook-texts';

export const deleteEndpointPages = memberFormPages({
  at: ENDPOINT_ACTION_PATHS.delete,
  operation: deleteEndpoint,
  path: ({ endpoint }) => ({ endpoint }),
  fields: () => z.object({}),
  errors: ({ locale }) => WEBHOOK_TEXTS[locale.language].form.errors,
  rejections: () => ({}),
  done: (_, { view }) => endpointsPath.to(view, { done: 'deleted' }),
  render: (page) => endpointConfirm({ ...page, action: 'delete' }),
});
