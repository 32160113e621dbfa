import type { Environment } from '../config';
import type { ReceiverRules } from '../webhooks/ssrf-guard';
import type { CommandContext } from './command-context';

/** Where a command lets webhooks lead. */
export function receiverRules({ config }: CommandContext, environment: Environment): ReceiverRules {
  return {
    environment,
    allowedNetworks: config.WEBHOOK_ALLOWED_NETWORKS,
    forbiddenNetworks: config.WEBHOOK_FORBIDDEN_NETWORKS,
  };
}
