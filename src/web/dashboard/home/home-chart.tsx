import type { ReactElement } from 'react';
import { formatRupiah } from '../../../domain/money';
import { BarChart } from '../../ui/bar-chart';
import { formatTime } from '../../ui/format';
import { Card } from '../../ui/layout';
import { EmptyState, Table } from '../../ui/table';
import { Money, Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { paymentsPath } from '../payments/payment-paths';
import type { HomeBar, ShownFigures } from './home-range';
import { HOME_TEXTS } from './home-texts';

interface PaidChartProps {
  readonly view: MerchantView;
  readonly figures: ShownFigures;
}

/** What was paid in each hour or day of the range, and the same as a table. */
export function PaidChart({ view, figures }: PaidChartProps): ReactElement {
  const { locale } = view;
  const texts = HOME_TEXTS[locale.language];
  const { bars, range, paidRupiah, payments } = figures;
  const style = range === 'today' ? 'time' : 'day';
  const words = ({ at }: HomeBar) => formatTime(at, style, locale);
  const hrefOf = ({ day }: HomeBar) => paymentsPath.to(view, { group: 'paid', from: day, to: day });
  const shown = bars.map((bar) => ({
    title: texts.bar(words(bar), formatRupiah(bar.paidRupiah), String(bar.payments)),
    value: bar.paidRupiah,
    href: hrefOf(bar),
  }));
  const [first, last] = [bars[0], bars.at(-1)];
  const highest = Math.max(...bars.map((bar) => bar.paidRupiah), 0);
  return (
    <Card title={texts.chart} part="chart" version={`${range} ${paidRupiah} ${payments}`}>
      <div className="card-body">
        {highest === 0 ? (
          <EmptyState icon="payments" text={texts.noBars} />
        ) : (
          <>
            <BarChart
              name={texts.chart}
              bars={shown}
              ends={[first ? words(first) : '', last ? words(last) : '']}
              highest={texts.highest(formatRupiah(highest))}
            />
            <details className="chart-table">
              <summary>{texts.table}</summary>
              <Table
                caption={texts.chart}
                rows={bars.filter((bar) => bar.payments > 0)}
                keyOf={({ at }) => at.toISOString()}
                empty={<EmptyState icon="payments" text={texts.noBars} />}
                columns={[
                  {
                    title: texts.columns.time,
                    narrow: 'first',
                    cell: (bar) => (
                      <a href={hrefOf(bar)}>
                        <Time at={bar.at} style={style} locale={locale} />
                      </a>
                    ),
                  },
                  { title: texts.columns.payments, narrow: 'second', className: 'number', cell: (bar) => bar.payments },
                  {
                    title: texts.columns.paid,
                    narrow: 'first-end',
                    className: 'number',
                    cell: (bar) => <Money rupiah={bar.paidRupiah} />,
                  },
                ]}
              />
            </details>
          </>
        )}
      </div>
    </Card>
  );
}
