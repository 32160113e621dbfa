import type { ReactElement } from 'react';
import { Field } from '../../ui/form';
import { Card } from '../../ui/layout';
import type { MerchantView } from '../merchant-view';
import { periodPath } from './balance-paths';
import { BALANCE_TEXTS } from './balance-texts';

interface PeriodFormProps {
  readonly view: MerchantView;
  readonly from: string;
  readonly to: string;
  readonly errors: Readonly<Partial<Record<string, string>>>;
}

/** The choice of the days of a statement. */
export function PeriodForm({ view, from, to, errors }: PeriodFormProps): ReactElement {
  const texts = BALANCE_TEXTS[view.locale.language];
  return (
    <div className="no-print">
      <Card title={texts.ofPeriod}>
        <form className="filter card-body" method="get" action={periodPath.to(view)}>
          <Field name="from" label={texts.from} type="date" value={from} error={errors.from} required />
          <Field name="to" label={texts.to} type="date" value={to} error={errors.to} required />
          <button className="button">{texts.show}</button>
          <p className="dim small">{texts.ofPeriodHint}</p>
        </form>
      </Card>
    </div>
  );
}
