import { z } from 'zod';
import { UserError } from '../errors';

const PAY_TIMEOUT_MS = 10_000;

const payResponse = z.union([
  z.object({ payment: z.looseObject({ status: z.string() }) }),
  z.object({ error: z.object({ message: z.string() }) }),
]);

/**
 * Pays an order as a customer, in the running sandbox.
 * @throws UserError if no sandbox responds, or it rejects the payment
 */
export async function payInSandbox(sandboxUrl: string, referenceId: string): Promise<{ status: string }> {
  const url = `${sandboxUrl}/simulator/payments/${encodeURIComponent(referenceId)}/pay`;
  const response = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(PAY_TIMEOUT_MS) }).catch(() => {
    throw new UserError(`No sandbox responds at ${sandboxUrl}. Start \`lunas up\`, or set SANDBOX_PORT to its port.`);
  });
  const result = payResponse.safeParse(await response.json().catch(() => undefined));
  if (!result.success)
    throw new UserError(
      `"${referenceId}" cannot be paid: the response of ${sandboxUrl} is not that of a sandbox ` +
        'for an order. Use the reference_id of a payment.',
    );
  if ('error' in result.data)
    throw new UserError(`The sandbox rejected the payment of ${referenceId}: ${result.data.error.message}`);
  return result.data.payment;
}
