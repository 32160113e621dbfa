import type { OpenedLink } from '../../../db/links/find-opened-link';
import type { Language } from '../../../domain/sign-in';
import type { LinkEnd, LinkProblem } from './link-texts';

/** What a visitor can do. */
export type LinkPageState =
  | {
      readonly kind: 'form';
      /** What was typed; empty: nothing. */
      readonly amount: string;
      readonly hasAmountError: boolean;
      /** What happened to the form that was sent; null: nothing. */
      readonly problem: LinkProblem | null;
    }
  /** Another visitor has chosen this amount, which can be paid at this address. */
  | { readonly kind: 'other_amount'; readonly amountRupiah: number; readonly untilMs: number; readonly href: string }
  | { readonly kind: 'ended'; readonly end: LinkEnd };

/** What the page of a link is rendered from. */
export interface LinkPage {
  readonly link: Pick<
    OpenedLink,
    'title' | 'amountRupiah' | 'minimumRupiah' | 'maximumRupiah' | 'merchantName' | 'contact' | 'accent' | 'logo'
  >;
  readonly state: LinkPageState;
  /** The id of this page: sent twice, it is one payment. */
  readonly attempt: string;
  readonly language: Language;
  readonly isSandbox: boolean;
}
