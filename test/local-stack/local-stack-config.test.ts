import { environmentSchema, loadConfig } from '../../src/config';
import { loadLocalStackConfig, localStackSchema } from '../../src/local-stack/local-stack-config';

const OF_LOCAL_STACK = Object.keys(localStackSchema.shape).filter(
  (name) => !Object.hasOwn(environmentSchema.shape, name),
);

describe('the variables of the local stack', () => {
  it('invalid variables of the local stack are rejected together with those of an installation', () => {
    expect(() => loadLocalStackConfig({ PORT: '0', POSTGRES_PORT: 'five' })).toThrow(
      /^The environment has invalid values\. PORT: must be .*; POSTGRES_PORT: must be a whole number from 1 to 65535$/,
    );
  });

  it.each(OF_LOCAL_STACK)('%s is neither checked nor kept by a process of an installation', (name) => {
    expect(loadConfig({ [name]: 'no port and no URL' })).toEqual(loadConfig({}));
  });

  it('the variables of the local stack have their defaults', () => {
    expect(loadLocalStackConfig({ SANDBOX_PORT: '' })).toMatchObject({
      ...loadConfig({}),
      SANDBOX_PORT: 3001,
      SANDBOX_HOST: '127.0.0.1',
      POSTGRES_PORT: 5433,
      TEMPORAL_PORT: 7233,
      TEMPORAL_UI_PORT: 8233,
    });
  });
});
