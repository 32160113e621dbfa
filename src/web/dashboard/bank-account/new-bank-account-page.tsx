import type { ReactElement } from 'react';
import { BANK_CODES, BANKS } from '../../../domain/banks';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { Field } from '../../ui/form';
import { FormFrame } from '../../ui/form-frame';
import { Select } from '../../ui/select';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { BANK_ACCOUNT_TEXTS } from './bank-account-texts';

interface NewBankAccountPage {
  readonly view: MerchantView;
  readonly formId: string;
  /** Why no account can be added; null: one can. */
  readonly rejection: string | null;
  readonly sent: SentFields;
  readonly errors: FieldErrors;
}

export function renderNewBankAccountPage(page: NewBankAccountPage): string {
  return renderMerchantPage(page.view, {
    title: BANK_ACCOUNT_TEXTS[page.view.locale.language].add,
    current: 'bankAccount',
    live: 'none',
    children: <NewBankAccount {...page} />,
  });
}

function NewBankAccount(page: NewBankAccountPage): ReactElement {
  const { view, rejection, errors } = page;
  const { add, title, form } = BANK_ACCOUNT_TEXTS[view.locale.language];
  return (
    <FormFrame
      title={add}
      back={{ href: view.paths.bankAccount, label: title }}
      rejection={rejection}
      errorTitle={form.errorTitle}
      errors={errors}
    >
      <BankAccountForm {...page} />
    </FormFrame>
  );
}

/** The number is typed twice, and never sent back: after an error both fields are empty. */
function BankAccountForm({ view, formId, rejection, sent, errors }: NewBankAccountPage): ReactElement {
  const { form } = BANK_ACCOUNT_TEXTS[view.locale.language];
  const banks = BANK_CODES.map((code) => ({ value: code, label: BANKS[code] }));
  const digits = { inputMode: 'numeric', autoComplete: 'off', maxLength: 24, required: true } as const;
  return (
    <form className="card-body" method="post" action={view.paths.newBankAccount}>
      <input type="hidden" name="form_id" value={formId} />
      <Select
        name="bank"
        label={form.bank}
        value={sent.bank ?? ''}
        options={[{ value: '', label: form.choose }, ...banks]}
        error={errors.bank}
        required
      />
      <Field name="number" label={form.number} hint={form.numberHint} value="" error={errors.number} {...digits} />
      <Field name="repeat" label={form.repeat} value="" error={errors.repeat} {...digits} />
      <p className="text">{form.next}</p>
      <p className="notice warning">{form.warning}</p>
      <div className="buttons">
        <button className="button primary wide-button" disabled={rejection !== null}>
          {form.submit}
        </button>
        <a className="button wide-button" href={view.paths.bankAccount}>
          {form.cancel}
        </a>
      </div>
    </form>
  );
}
