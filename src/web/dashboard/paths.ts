/** The addresses of the pages of one merchant that are no `pagePath` yet. */
export function merchantPaths(code: string) {
  const home = `/m/${code}`;
  const team = `${home}/team`;
  return {
    home,
    team,
    /** @param after the position of its last member before */
    teamAfter: (after: string) => `${team}?after=${after}`,
    member: (userId: string) => `${team}/${userId}`,
    closeNotices: `${home}/notices/close`,
    settings: `${home}/settings`,
    ...appearancePaths(home),
    ...bankAccountPaths(home),
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

export type MerchantPaths = ReturnType<typeof merchantPaths>;
