import type { ReactElement } from 'react';

export interface Bar {
  /** In words, with the value. */
  readonly title: string;
  readonly value: number;
  readonly href: string;
}

interface BarChartProps {
  readonly name: string;
  readonly bars: readonly Bar[];
  /** Under the first and the last bar. */
  readonly ends: readonly [string, string];
  /** The value of the highest bar, in words. */
  readonly highest: string;
}

const HEIGHT = 120;
const STEP = 24;
const GAP = 6;
/** A small value is seen too. */
const MIN_HEIGHT = 3;

/** Bars as inline SVG, each a link with its value as title. The same values belong in a table beside it. */
export function BarChart({ name, bars, ends, highest }: BarChartProps): ReactElement {
  const width = bars.length * STEP;
  const max = Math.max(...bars.map(({ value }) => value), 1);
  return (
    <div className="chart">
      <p className="dim small">{highest}</p>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="group" aria-label={name}>
        {bars.map(({ title, value, href }, index) => (
          <a key={href + title} href={href} aria-label={title}>
            <title>{title}</title>
            <rect className="slot" x={index * STEP} y="0" width={STEP} height={HEIGHT} />
            <BarShape index={index} height={value === 0 ? 1 : Math.max((value / max) * HEIGHT, MIN_HEIGHT)} />
          </a>
        ))}
      </svg>
      <p className="chart-ends dim small" aria-hidden="true">
        {ends.map((end) => (
          <span key={end}>{end}</span>
        ))}
      </p>
    </div>
  );
}

function BarShape({ index, height }: { readonly index: number; readonly height: number }): ReactElement {
  const top = HEIGHT - height;
  const className = height <= 1 ? 'bar none' : 'bar';
  return <rect className={className} x={index * STEP + GAP / 2} y={top} width={STEP - GAP} height={height} />;
}
