type Query = Readonly<Record<string, string | undefined>>;

/** The addresses of the pages of one merchant. No page builds one by itself. */
export function merchantPaths(code: string) {
  const home = `/m/${code}`;
  const payments = `${home}/payments`;
  const payment = (reference: string) => `${payments}/${reference}`;
  const team = `${home}/team`;
  const activity = `${home}/activity`;
  return {
    home,
    homeOf: (range: string) => `${home}?range=${range}`,
    team,
    /** @param after the position of its last member before */
    teamAfter: (after: string) => `${team}?after=${after}`,
    member: (userId: string) => `${team}/${userId}`,
    closeNotices: `${home}/notices/close`,
    settings: `${home}/settings`,
    ...appearancePaths(home),
    activity,
    activityList: (query: Query) => activity + queryText(query),
    exportActivity: (query: Query) => `${activity}.csv${queryText(query)}`,
    payments,
    newPayment: `${payments}/new`,
    payment,
    qr: (reference: string) => `${payment(reference)}/qr`,
    events: (reference: string, seen: string) => `${payment(reference)}/events?seen=${encodeURIComponent(seen)}`,
    image: (reference: string) => `${payment(reference)}/qris.png`,
    customer: (reference: string) => `${payment(reference)}/customer`,
    refund: (reference: string) => `${payment(reference)}/refund`,
    cancel: (reference: string) => `${payment(reference)}/cancel`,
    cancelRefund: (reference: string) => `${payment(reference)}/refund/cancel`,
    balance: `${home}/balance`,
    balanceOf: (month: string) => `${home}/balance?month=${month}`,
    /** @param after the cursor of its last line before; absent: from the first line on */
    balanceDay: (day: string, after?: string) =>
      `${home}/balance/days/${day}${after === undefined ? '' : `?after=${after}`}`,
    balanceCsv: (day: string) => `${home}/balance/days/${day}.csv`,
    ...bankAccountPaths(home),
    ...payoutPaths(home),
    ...developerPaths(home),
    exportPayments: (query: Query) => `${payments}.csv${queryText(query)}`,
    /** Parameters without a value are left out. */
    list: (query: Query) => payments + queryText(query),
  };
}

function developerPaths(home: string) {
  const requests = `${home}/developers/requests`;
  return {
    requests,
    requestList: (query: Query) => requests + queryText(query),
    requestsOfKey: (keyId: string) => `${requests}?key=${keyId}`,
    request: (requestId: string) => `${requests}/${encodeURIComponent(requestId)}`,
  };
}

function appearancePaths(home: string) {
  const appearance = `${home}/settings/checkout`;
  return {
    appearance,
    uploadLogo: `${appearance}/logo`,
    removeLogo: `${appearance}/logo/remove`,
    /** @param hash another one for another image */
    logo: (hash: string) => `${appearance}/logo.png?hash=${hash}`,
  };
}

function bankAccountPaths(home: string) {
  const bankAccount = `${home}/bank-account`;
  return {
    bankAccount,
    newBankAccount: `${bankAccount}/new`,
  };
}

function payoutPaths(home: string) {
  const payouts = `${home}/payouts`;
  const payout = (reference: string) => `${payouts}/${reference}`;
  return {
    payouts,
    payoutList: (query: Query) => payouts + queryText(query),
    exportPayouts: (query: Query) => `${payouts}.csv${queryText(query)}`,
    payout,
    /** @param after the last line before */
    payoutLines: (reference: string, after: number) => `${payout(reference)}?after=${after}#lines`,
    exportPayoutLines: (reference: string) => `${payout(reference)}/lines.csv`,
  };
}

function queryText(query: Query): string {
  const present = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) present.set(name, value);
  return present.size === 0 ? '' : `?${present.toString()}`;
}

export type MerchantPaths = ReturnType<typeof merchantPaths>;
