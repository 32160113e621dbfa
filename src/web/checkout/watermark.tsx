import type { ReactElement } from 'react';
import { SANDBOX_TEXTS } from '../ui/environment-bar';

/** One copy of the word, and its row in the pattern. */
export const WATERMARK = { across: 150, down: 84, size: 22, baseline: 50, angle: -30, opacity: 0.14 } as const;

/** The word behind a code: its size is a part of that of the code. It is too light to be read as modules. */
export const CODE_WATERMARK = { angle: -45, part: 0.2, colour: '#f0d9a8' } as const;

/** The name of the sandbox all over the card, behind its content: a part of a screenshot shows it too. */
export function Watermark(): ReactElement {
  const { across, down, size, baseline, angle, opacity } = WATERMARK;
  return (
    <svg className="watermark" aria-hidden="true">
      <pattern
        id="sandbox"
        width={across}
        height={down}
        patternUnits="userSpaceOnUse"
        patternTransform={`rotate(${angle})`}
      >
        <text x={across / 2} y={baseline} fontSize={size} fontWeight="700" textAnchor="middle">
          {SANDBOX_TEXTS.en.name}
        </text>
      </pattern>
      <rect width="100%" height="100%" fill="url(#sandbox)" opacity={opacity} />
    </svg>
  );
}

/** The name of the sandbox behind the dark modules of a code of this size. */
export function CodeWatermark({ size }: { readonly size: number }): ReactElement {
  const { angle, part, colour } = CODE_WATERMARK;
  return (
    <text
      className="code-watermark"
      transform={`rotate(${angle} ${size / 2} ${size / 2})`}
      x={size / 2}
      y={size / 2}
      fontSize={size * part}
      fontWeight="700"
      textAnchor="middle"
      dominantBaseline="central"
      fill={colour}
    >
      {SANDBOX_TEXTS.en.name}
    </text>
  );
}
