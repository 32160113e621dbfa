import type { EnvironmentTexts } from '../../ui/environment-bar';
import type { CheckoutPayment } from '../checkout-state';
import type { OutcomeIcon } from '../icons';

/** How a line of text is set. */
export type LineStyle = 'task' | 'title' | 'explanation' | 'amount' | 'small' | 'name';

export interface CardLine {
  readonly kind: 'line';
  readonly style: LineStyle;
  readonly text: string;
}

/** Until when to pay. */
export interface CardDeadline {
  readonly kind: 'deadline';
  readonly label: string;
  readonly time: string;
}

/** What happened, as a drawing in a disc. */
export interface CardIcon {
  readonly kind: 'icon';
  readonly icon: OutcomeIcon;
}

/** A QR code in its frame, and what its app confirms. */
export interface CardCode {
  readonly kind: 'code';
  readonly payload: string;
  readonly anyApp: string;
  readonly caption: readonly CardLine[];
}

/** Names at the left and their values at the right. */
export interface CardFacts {
  readonly kind: 'facts';
  readonly rows: readonly (readonly [name: string, value: string])[];
}

export type CardPart = CardLine | CardDeadline | CardIcon | CardCode | CardFacts;

export type CardShop = Pick<CheckoutPayment, 'merchantName' | 'accent' | 'logo'>;

/** An image to save or to print, with what the checkout page shows, in its order. */
export interface Card {
  readonly shop: CardShop;
  /** The environment whose money is not real, which stands all over the card; null: none. */
  readonly environment: EnvironmentTexts | null;
  readonly parts: readonly CardPart[];
}
