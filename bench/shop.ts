import { measuredPages, type FilledMerchant, type PageKind } from '../test/support/dashboard-pages';
import { fillMerchant, readFilledMerchant } from '../test/support/fill-merchant';
import { signInMany } from '../test/support/people';
import { fillTotals } from '../test/support/seed-payments';
import type { BenchmarkHarness } from './harness';
import { Http } from './http';
import { BenchmarkMerchant } from './merchant';

const PAYMENTS = 10_000;
export const USERS = 1_000;

export type BenchmarkPageKind = PageKind | 'checkout';

/** A page of the dashboard, or the checkout of the API. */
export interface BenchmarkPage {
  readonly route: string;
  readonly kind: BenchmarkPageKind;
  /** @throws Error if the server responds with a problem */
  readonly open: () => Promise<void>;
}

/** A merchant with payments, whose users are signed in to the dashboard. */
export class BenchmarkShop {
  #nextUser = 0;

  private constructor(
    readonly merchant: BenchmarkMerchant,
    private readonly http: Readonly<Record<'api' | 'sandbox' | 'dashboard', Http>>,
    private readonly filled: FilledMerchant,
    /** The cookie of each user. */
    private readonly cookies: readonly string[],
    private readonly dashboardUrl: string,
  ) {}

  /** Starts the dashboard, and fills the demo merchant. */
  static async open(harness: BenchmarkHarness): Promise<BenchmarkShop> {
    const { stack, db } = harness;
    const { merchantId, secretKey } = stack.prepared;
    const dashboardUrl = await harness.startDashboard();
    await fillMerchant(db, { merchantId, ...(await harness.readCatalog()) }, 1, PAYMENTS);
    await fillTotals(db, merchantId);
    const tokens = await signInMany(db, merchantId, USERS);
    const name = `lunas_dashboard_${new URL(dashboardUrl).port}`;
    const http = {
      api: new Http(stack.apiUrl),
      sandbox: new Http(stack.sandboxUrl),
      dashboard: new Http(dashboardUrl),
    };
    return new BenchmarkShop(
      new BenchmarkMerchant(http.api, http.sandbox, secretKey),
      http,
      await readFilledMerchant(db, merchantId),
      tokens.map((token) => `${name}=${token}`),
      dashboardUrl,
    );
  }

  /** Each page of the dashboard. A session has a limit of requests a minute, so each one is opened by another user. */
  dashboardPages(): BenchmarkPage[] {
    return measuredPages()
      .filter(([, { isLimited = false }]) => !isLimited)
      .map(([route, { kind, paths, isSignedOut = false }]) => {
        const path = paths(this.filled)[0] ?? '/';
        return { route, kind, open: () => this.#open(path, isSignedOut ? {} : this.#nextBrowser()) };
      });
  }

  async checkoutPage(): Promise<BenchmarkPage> {
    const { id } = await this.merchant.create();
    const { pathname } = new URL(await this.merchant.checkoutUrl(id));
    return {
      route: 'get /pay/:token',
      kind: 'checkout',
      open: async () => assertOpened(pathname, (await this.http.api.send('GET', pathname, {})).status),
    };
  }

  /** The GET with which the pages are compared. */
  async read(): Promise<void> {
    await this.merchant.get(this.filled.references.paid ?? '');
  }

  /** What a browser requests that has the page of a new payment open. */
  streamOf(referenceId: string): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
    const url = `${this.dashboardUrl}/m/${this.filled.code}/payments/${referenceId}/events?seen=2`;
    return { url, headers: { ...this.#nextBrowser(), accept: 'text/event-stream' } };
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.http).map((http) => http.close()));
  }

  async #open(path: string, headers: Record<string, string>): Promise<void> {
    assertOpened(path, (await this.http.dashboard.send('GET', path, headers)).status);
  }

  #nextBrowser(): Record<string, string> {
    this.#nextUser = (this.#nextUser + 1) % this.cookies.length;
    return { cookie: this.cookies[this.#nextUser] ?? '' };
  }
}

function assertOpened(path: string, status: number): void {
  // Some pages lead to others, such as that of a sign-in to home.
  if (status !== 200 && status !== 303) throw new Error(`${path} returned ${status}`);
}
