import { createPublicKey } from 'node:crypto';
import { Router, type Request, type Response } from 'express';
import type { Pool } from 'pg';
import { z } from 'zod';
import { done, onlyLoopback, parseBody, sendError } from '../control-responses';
import { SNAP_PROFILE_NAMES, type SnapMerchants } from '../snap/merchants';
import type { Bank } from './bank';
import { MAGIC_ACCOUNTS } from './magic-accounts';
import { listExecutions, listTransfers, type Execution, type Transfer } from './transfer-records';

const MAX_TIMES = 10_000;
const MAX_TOKEN_SECONDS = 86_400;

const changeSchema = z
  .object({
    notify: z.union([z.boolean(), z.stringbool()]).default(true),
    times: z.coerce.number().int().min(1).max(MAX_TIMES).default(1),
  })
  .default({ notify: true, times: 1 });

const accountSchema = z.strictObject({
  balance_rupiah: z.int().min(0).optional(),
  forgets_references: z.boolean().optional(),
});

const registrationSchema = z.strictObject({
  profile: z.enum(SNAP_PROFILE_NAMES),
  public_key: z.string().refine(isRsaKey, { error: 'must be an RSA key (PEM)' }),
  notification_url: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .default(null),
});

const settingsSchema = z.strictObject({ token_seconds: z.number().positive().max(MAX_TOKEN_SECONDS) });

/** What the calls of an operator of the bank do to a transfer. */
const CHANGES = { complete: 'completed', fail: 'failed', return: 'returned' } as const;

export interface BankControlDependencies {
  readonly pool: Pool;
  readonly bank: Bank;
  readonly merchants: SnapMerchants;
  readonly wakeNotifiers: () => void;
}

/** Controls the bank: its transfers, our account, and the onboarding of merchants. Only for clients on this machine. */
export function bankControl(dependencies: BankControlDependencies): Router {
  const router = Router();
  router.use('/simulator', onlyLoopback);
  addTransferRoutes(router, dependencies);
  addAccountRoutes(router, dependencies);
  addSnapRoutes(router, dependencies);
  return router;
}

function addTransferRoutes(router: Router, { pool, bank, wakeNotifiers }: BankControlDependencies): void {
  router.get('/simulator/transfers', async (_request, response) => {
    const [transfers, executions] = await Promise.all([listTransfers(pool), listExecutions(pool)]);
    response.json({ transfers: transfers.map((transfer) => show(transfer, executions)) });
  });
  for (const change of ['complete', 'fail', 'return'] as const) {
    router.post(`/simulator/transfers/:reference/${change}`, async (request, response) => {
      const body = parseBody(changeSchema, request, response);
      if (!body) return;
      const result = await bank.control(request.params.reference, CHANGES[change], body.notify ? body.times : 0);
      if (!result) return sendError(response, 404, 'not_found', 'This bank has no such transfer.');
      const { status } = result.transfer;
      if (!result.changed) return sendError(response, 409, 'not_possible', `This transfer is ${status}.`);
      wakeNotifiers();
      done(request, response, { transfer: show(result.transfer, await listExecutions(pool)) });
    });
  }
}

function addAccountRoutes(router: Router, { bank }: BankControlDependencies): void {
  const showAccount = async (_request: Request, response: Response) => {
    const { balanceRupiah, forgetsReferences } = await bank.readAccount();
    response.json({ balance_rupiah: balanceRupiah, forgets_references: forgetsReferences });
  };
  router.get('/simulator/bank-account', showAccount);
  router.put('/simulator/bank-account', async (request, response) => {
    const body = parseBody(accountSchema, request, response);
    if (!body) return;
    const { balance_rupiah: balanceRupiah, forgets_references: forgetsReferences } = body;
    await bank.setAccount({ balanceRupiah, forgetsReferences });
    await showAccount(request, response);
  });
  router.get('/simulator/bank-account/numbers', (_request, response) => {
    const numbers = MAGIC_ACCOUNTS.map(({ accountNumber, description }) => ({
      account_number: accountNumber,
      description,
    }));
    response.json({ numbers });
  });
}

function addSnapRoutes(router: Router, { merchants }: BankControlDependencies): void {
  router.post('/simulator/snap/merchants', async (request, response) => {
    const body = parseBody(registrationSchema, request, response);
    if (!body) return;
    const { merchant, acquirerPublicKey } = await merchants.register({
      profile: body.profile,
      publicKeyPem: body.public_key,
      notificationUrl: body.notification_url,
    });
    response.json({
      client_id: merchant.clientId,
      client_secret: merchant.clientSecret,
      partner_id: merchant.partnerId,
      channel_id: merchant.channelId,
      merchant_key: merchant.merchantKey,
      acquirer_public_key: acquirerPublicKey,
    });
  });
  router.get('/simulator/snap/merchants/:client/calls', async (request, response) => {
    const calls = await merchants.listCalls(request.params.client);
    response.json({
      calls: calls.map(({ externalId, service, signedForm }) => ({
        external_id: externalId,
        service,
        signed_form: signedForm,
      })),
    });
  });
  router.put('/simulator/snap', (request, response) => {
    const body = parseBody(settingsSchema, request, response);
    if (!body) return;
    merchants.setTokenSeconds(body.token_seconds);
    response.json(body);
  });
  router.delete('/simulator/snap/tokens', async (_request, response) => {
    await merchants.revokeTokens();
    response.json({});
  });
}

function isRsaKey(pem: string): boolean {
  try {
    return createPublicKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

function show(transfer: Transfer, executions: readonly Execution[]) {
  const ofTransfer = executions.filter(
    ({ clientId, partnerReferenceNo }) =>
      clientId === transfer.clientId && partnerReferenceNo === transfer.partnerReferenceNo,
  );
  return {
    partner_reference_no: transfer.partnerReferenceNo,
    reference_no: transfer.referenceNo,
    status: transfer.status,
    amount_rupiah: transfer.amountRupiah,
    bank_code: transfer.bankCode,
    account_number: transfer.accountNumber,
    send_calls: transfer.sendCalls,
    status_calls: transfer.statusCalls,
    executions: ofTransfer.map(({ direction, amountRupiah, accountNumber, executedAt }) => ({
      direction,
      amount_rupiah: amountRupiah,
      account_number: accountNumber,
      executed_at: executedAt.toISOString(),
    })),
  };
}
