import type { ReactElement } from 'react';
import { describeAccount } from '../../../domain/banks';
import { formatRupiah } from '../../../domain/money';
import type { PayoutPreview } from '../../../services/payouts/payouts';
import { ConfirmForm } from '../../ui/form';
import { Card, Facts, type Fact } from '../../ui/layout';
import { Money, SignedMoney, Time } from '../../ui/values';
import { balancePath } from '../balance/balance-paths';
import type { MerchantView } from '../merchant-view';
import { PAYOUT_FORM_TEXTS } from './payout-form-texts';
import { newPayoutPath, payoutsPath } from './payout-paths';
import { RAIL_NAMES } from './payout-texts';

type ShownPreview = Extract<PayoutPreview, { readonly outcome: 'possible' }>;

interface PayoutPreviewFormProps {
  readonly view: MerchantView;
  readonly formId: string;
  readonly preview: ShownPreview;
}

/** What the payout pays, and its button. There is no field for the amount: a payout pays the whole balance. */
export function PayoutPreviewForm({ view, formId, preview }: PayoutPreviewFormProps): ReactElement {
  const texts = PAYOUT_FORM_TEXTS[view.locale.language].new;
  const { grossRupiah, balanceRupiah, lines, rail } = preview;
  return (
    <>
      <Card>
        <Facts facts={amountFacts(view, preview)} />
      </Card>
      <Card title={texts.pays} aside={<a href={balancePath.to(view)}>{texts.lines}</a>}>
        {lines.length === 0 && <p className="text">{texts.onAccount}</p>}
        <Facts
          facts={lines.map(({ kind, count, rupiah }) => ({
            name: texts.kinds[kind](count),
            value: <SignedMoney rupiah={rupiah} />,
          }))}
        />
      </Card>
      {grossRupiah < balanceRupiah && <p className="text">{texts.rest}</p>}
      <p className="dim text">{texts.approval}</p>
      <ConfirmForm
        action={newPayoutPath.to(view)}
        label={texts.button(formatRupiah(rail.amountRupiah))}
        tone="primary"
        fields={{
          form_id: formId,
          after: String(preview.afterPostingId),
          up_to: String(preview.upToPostingId),
          gross: String(grossRupiah),
        }}
        rejection={null}
      >
        <a className="button wide-button" href={payoutsPath.to(view)}>
          {texts.back}
        </a>
      </ConfirmForm>
    </>
  );
}

function amountFacts({ locale, nowMs }: MerchantView, preview: ShownPreview): Fact[] {
  const texts = PAYOUT_FORM_TEXTS[locale.language].new;
  const { account, balanceRupiah, grossRupiah, rail } = preview;
  const isNow = rail.sendsAt.getTime() <= nowMs;
  const part = { name: texts.gross, value: <Money rupiah={grossRupiah} /> };
  return [
    { name: texts.sent, value: isNow ? texts.now : <Time at={rail.sendsAt} style="short" locale={locale} /> },
    {
      name: texts.account,
      value: <span className="strong">{describeAccount(account.bankCode, account.lastFour)}</span>,
    },
    { name: texts.balance, value: <Money rupiah={balanceRupiah} /> },
    ...(grossRupiah < balanceRupiah ? [part] : []),
    { name: texts.fee(RAIL_NAMES[rail.policy.rail]), value: <Money rupiah={-rail.policy.feeRupiah} /> },
    { name: texts.amount, value: <Money rupiah={rail.amountRupiah} />, isTotal: true },
  ];
}
