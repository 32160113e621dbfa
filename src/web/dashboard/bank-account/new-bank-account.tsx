import type { ReactElement } from 'react';
import { z } from 'zod';
import { BANK_CODES, BANKS, isAccountNumber, isBankCode } from '../../../domain/banks';
import { addBankAccount } from '../../../services/payouts/add-bank-account';
import { sentField } from '../../page/sent-field';
import { Field } from '../../ui/form';
import { FormButtons, FormFrame } from '../../ui/form-frame';
import { Select } from '../../ui/select';
import { memberFormPages, type FormPage } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { SECOND_MEMBER_TEXTS } from '../texts/second-member-texts';
import { bankAccountPath, newBankAccountPath } from './bank-account-paths';
import { BANK_ACCOUNT_TEXTS } from './bank-account-texts';

/** Spaces and hyphens between the digits are as on a bank card. */
const withoutSeparators = (text: string) => text.replaceAll(/[\s.-]/g, '');

/** A number of 20 digits, in groups of four. */
const MAX_TYPED_CHARACTERS = 24;

const accountFields = z
  .object({
    bank: z.string({ error: 'bank' }).refine(isBankCode, { error: 'bank' }),
    number: z
      .string({ error: 'number' })
      .max(MAX_TYPED_CHARACTERS, { error: 'number' })
      .transform(withoutSeparators)
      .refine(isAccountNumber, { error: 'number' }),
    repeat: z.string({ error: 'repeat' }).max(MAX_TYPED_CHARACTERS, { error: 'repeat' }).transform(withoutSeparators),
  })
  .refine(({ number, repeat }) => number === repeat, { error: 'repeat', path: ['repeat'] })
  .transform(({ bank: bankCode, number }) => ({ bankCode, number }));

export const newBankAccountPages = memberFormPages({
  at: newBankAccountPath,
  operation: addBankAccount,
  path: ({ merchant }) => ({ merchant }),
  fields: () => accountFields,
  errors: ({ locale }) => BANK_ACCOUNT_TEXTS[locale.language].form.errors,
  rejections: addRejections,
  done: (_id, { view }) => bankAccountPath.to(view, { done: 'added' }),
  render: (page) =>
    renderMerchantPage(page.view, {
      title: BANK_ACCOUNT_TEXTS[page.view.locale.language].add,
      current: 'bankAccount',
      live: 'none',
      children: <NewBankAccount {...page} />,
    }),
});

export function addRejections({ locale }: MerchantView) {
  const { proposalOpen } = BANK_ACCOUNT_TEXTS[locale.language];
  const { member_too_new } = SECOND_MEMBER_TEXTS[locale.language];
  return { proposal_open: () => proposalOpen, member_too_new };
}

/** The number is typed twice, and never sent back: after an error both fields are empty. */
function NewBankAccount(page: FormPage<unknown>): ReactElement {
  const { view, formId, rejection, errors, attributes } = page;
  const { add, title, form } = BANK_ACCOUNT_TEXTS[view.locale.language];
  const back = bankAccountPath.to(view);
  const banks = BANK_CODES.map((code) => ({ value: code, label: BANKS[code] }));
  const digits = { inputMode: 'numeric', autoComplete: 'off' } as const;
  return (
    <FormFrame
      title={add}
      back={{ href: back, label: title }}
      rejection={rejection}
      errorTitle={form.errorTitle}
      errors={errors}
    >
      <form className="card-body" method="post" action={newBankAccountPath.to(view)}>
        <input type="hidden" name="form_id" value={formId} />
        <Select
          {...sentField('bank', page)}
          label={form.bank}
          options={[{ value: '', label: form.choose }, ...banks]}
        />
        <Field
          name="number"
          label={form.number}
          hint={form.numberHint}
          value=""
          error={errors.number}
          {...digits}
          {...attributes.number}
        />
        <Field name="repeat" label={form.repeat} value="" error={errors.repeat} {...digits} {...attributes.repeat} />
        <p className="text">{form.next}</p>
        <p className="notice warning">{form.warning}</p>
        <FormButtons label={form.submit} cancel={form.cancel} back={back} isDisabled={rejection !== null} />
      </form>
    </FormFrame>
  );
}
