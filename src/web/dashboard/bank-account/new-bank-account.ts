import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isAccountNumber, isBankCode } from '../../../domain/banks';
import { ConflictError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import { addBankAccount } from '../../../services/payouts/bank-accounts';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { FieldErrors, SentFields } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { actingUser, userIdentity } from '../user-identity';
import { BANK_ACCOUNT_TEXTS } from './bank-account-texts';
import { renderNewBankAccountPage } from './new-bank-account-page';
import { addRejection } from './show-bank-account';

const MANAGE = { area: 'bank_account', level: 'manage' } as const;
const PATH = '/m/:code/bank-account/new';

type AddDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'sealer' | 'workflows'>;

/** Spaces and hyphens between the digits are as on a bank card. */
const withoutSeparators = (text: string) => text.replaceAll(/[\s.-]/g, '');

const digits = z.string({ error: 'number' }).transform(withoutSeparators).refine(isAccountNumber, { error: 'number' });

const newAccountSchema = z
  .object({
    form_id: z.uuid({ error: 'form' }),
    bank: z.string({ error: 'bank' }).refine(isBankCode, { error: 'bank' }),
    number: digits,
    repeat: z.string({ error: 'repeat' }).transform(withoutSeparators),
  })
  .refine(({ number, repeat }) => number === repeat, { error: 'repeat', path: ['repeat'] });

const newBankAccountForm = memberPage(MANAGE, {
  method: 'get',
  path: PATH,
  stepUp: true,
  fields: NO_FIELDS,
  handler: async (dependencies: AddDependencies, visit) =>
    formPage(dependencies, visit, { sent: {}, errors: {}, status: 200 }),
});

/** The hidden id of the form is that of the account, so a double click adds one. */
const addBankAccountByForm = memberPage(MANAGE, {
  method: 'post',
  path: PATH,
  stepUp: true,
  fields: newAccountSchema,
  async handler(dependencies: AddDependencies, visit, form) {
    const view = merchantView(dependencies, visit);
    const { sent } = form;
    if (!form.ok) return formPage(dependencies, visit, { sent, errors: form.errors, status: 422 });
    const { db, sealer, log, workflows } = dependencies;
    const { form_id: id, bank: bankCode, number } = form.values;
    const user = actingUser(visit);
    const startInquiry = workflows.bankAccounts.start.bind(workflows.bankAccounts);
    const detail = JSON.stringify({ bank_code: bankCode, last_four: number.slice(-4) });
    const action = { action: 'bank_account.add', target: id, detail } as const;
    try {
      await withUserAudit(db, userIdentity(dependencies, visit), action, () =>
        addBankAccount({ db, sealer, log, startInquiry }, user, { id, bankCode, number }, visit.now),
      );
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      return formPage(dependencies, visit, { sent, errors: {}, status: 409 });
    }
    return redirectTo(`${view.paths.bankAccount}?done=added`);
  },
});

export const newBankAccountPages = [newBankAccountForm, addBankAccountByForm];

interface FormState {
  readonly sent: SentFields;
  readonly errors: FieldErrors;
  readonly status: number;
}

async function formPage(
  dependencies: AddDependencies,
  visit: MemberVisit,
  { sent, errors, status }: FormState,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const texts = BANK_ACCOUNT_TEXTS[view.locale.language].form.errors;
  const known: Readonly<Partial<Record<string, string>>> = texts;
  const html = renderNewBankAccountPage({
    view,
    formId: z.uuid().safeParse(sent.form_id).data ?? randomUUID(),
    rejection: await addRejection(dependencies, view, visit),
    // The number is typed again: no response has it.
    sent: { bank: sent.bank },
    errors: Object.fromEntries(
      Object.entries(errors).map(([name, code]) => [name === 'form_id' ? 'bank' : name, known[code] ?? texts.form]),
    ),
  });
  return pageResponse(html, status);
}
