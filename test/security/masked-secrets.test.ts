import { randomBytes } from 'node:crypto';
import { createSecretKey } from '../../src/crypto/secret-key';
import { createSignInToken } from '../../src/crypto/sign-in-token';
import { insertOperator } from '../../src/services/identity/operators';
import { callApi, sendRequest, startTestApis, type TestApis } from '../support/api';
import { eventually } from '../support/eventually';

let apis: TestApis;
let url: string;
let operatorUrl: string;
beforeAll(async () => {
  apis = await startTestApis([{}]);
  [url = '', operatorUrl = ''] = [apis.urls[0], apis.operatorUrls[0]];
});
afterAll(() => apis.close());

describe('a secret in an address or an error', () => {
  it('a secret in an address or an error is masked, whatever its kind', async () => {
    const { secret: merchantKey } = await apis.newKey();
    const { secret: operatorKey } = await insertOperator(apis.db, { name: 'sari', environment: 'production' });
    const serverKey = `SB-Mid-server-${randomBytes(12).toString('hex')}`;
    const earlierSecret = `whsec_${randomBytes(32).toString('base64url')}`;
    // Each character that base64url does not have, where it would end the mask.
    const webhookSecret = `whsec_+A/+${randomBytes(27).toString('base64').replaceAll('=', 'A')}A/A=`;
    const encodedSecret = encodeURIComponent(webhookSecret).replace('whsec_', 'whsec_Zq9');
    const tokens = [createSignInToken('session').token, createSignInToken('link').token];
    const secrets = [merchantKey, operatorKey, earlierSecret, webhookSecret, encodedSecret, serverKey, ...tokens];
    for (const secret of secrets) {
      await sendRequest(`${url}/payments/${secret}`);
      await sendRequest(`${url}/${secret}?key=${secret}`);
      await sendRequest(`${operatorUrl}/operator/payments/${secret}`);
    }
    const message = secrets.join(' and ').replaceAll('%', '%%');
    await apis.db.query(`alter table api_keys rename to api_keys_away`);
    await apis.db.query(
      `create function fail() returns boolean language plpgsql as $$ begin raise '${message}'; end $$`,
    );
    await apis.db.query('create view api_keys as select *, fail() from merchants');
    await callApi(url, createSecretKey('sandbox', '00').secret);
    await eventually(
      async () => apis.logged(),
      (log) => log.includes('request failed'),
    );
    for (const secret of secrets) {
      expect(apis.logged()).not.toContain(secret);
      expect(apis.logged()).not.toContain(secret.slice(14, -4));
      expect(apis.logged()).toContain(`…${secret.slice(-4)}`);
    }
  });
});
