import { loadConfig } from '../../src/config';
import { temporalTarget } from '../../src/temporal/connection';

const PRODUCTION = { LUNAS_ENVIRONMENT: 'production' };

describe('a Temporal that is not on loopback', () => {
  it('is rejected in production without a client certificate or an API key', () => {
    for (const tls of [{}, { TEMPORAL_TLS_CA: 'ca.pem' }, { TEMPORAL_TLS_CERT: 'cert.pem' }]) {
      const config = loadConfig({ ...PRODUCTION, ...tls });
      expect(() => temporalTarget(config, 'temporal.internal:7233')).toThrow(/^In production, Temporal at .*API_KEY/);
      expect(() => temporalTarget(config, '127.evil.example:7233')).toThrow(/production/);
    }
  });

  it('is accepted with an API key, and in sandbox', () => {
    const withKey = loadConfig({ ...PRODUCTION, TEMPORAL_API_KEY: 'key' });
    expect(temporalTarget(withKey, 'temporal.internal:7233').security).toMatchObject({ apiKey: 'key' });
    expect(temporalTarget(loadConfig({}), 'temporal.internal:7233').security).toEqual({});
  });

  it.each(['127.0.0.1:7233', 'localhost:7233'])('is not %s, which needs neither', (address) => {
    expect(temporalTarget(loadConfig(PRODUCTION), address)).toMatchObject({ address });
  });
});
