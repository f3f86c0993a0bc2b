import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { readEnv } from '../../src/config/read-env.ts';
import { DEFAULT_SETTINGS, resolveSettings } from '../../src/config/settings.ts';
import { createRedact } from '../../src/telemetry/redact.ts';

describe('the environment', () => {
  test('variables that are set are read', () => {
    const env = {
      PORT: '0',
      HOST: '::1',
      DATABASE_URL: 'postgres://u:p@localhost:5432/db',
      DATABASE_DIRECT_URL: 'postgres://u:p@localhost:5433/db',
      LASTCALL_HOME: '/var/lib/lastcall',
      LASTCALL_SECRET_KEY: 'k'.repeat(32),
      LASTCALL_TRUSTED_PROXIES: '10.0.0.5, fd00::/8',
      LASTCALL_MODEL: 'openai-compatible/some-model',
      LASTCALL_MODEL_URL: 'http://127.0.0.1:11434/v1',
      LASTCALL_LEASE_MS: '500',
      LASTCALL_LOG_LEVEL: 'debug',
      OTHER: 'x',
    };
    expect(readEnv(env)).toEqual({
      port: 0,
      host: '::1',
      databaseUrl: env.DATABASE_URL,
      databaseDirectUrl: env.DATABASE_DIRECT_URL,
      home: '/var/lib/lastcall',
      secretKey: env.LASTCALL_SECRET_KEY,
      trustedProxies: ['10.0.0.5', 'fd00::/8'],
      model: 'openai-compatible/some-model',
      modelUrl: env.LASTCALL_MODEL_URL,
      leaseMs: 500,
      logLevel: 'debug',
    });
  });

  test('empty variables are ignored', () => {
    expect(readEnv({ PORT: '', HOST: ' ', DATABASE_URL: undefined })).toEqual({});
  });

  test.each([
    ['PORT', 'abc'],
    ['PORT', '80a'],
    ['PORT', '0x10'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '4100.5'],
    ['HOST', 'http://a'],
    ['DATABASE_URL', 'mysql://secret-thing@a/b'],
    ['DATABASE_URL', './secret-thing.sqlite'],
    ['DATABASE_DIRECT_URL', 'https://secret-thing@a/b'],
    ['LASTCALL_SECRET_KEY', 'secret-thing'],
    ['LASTCALL_SECRET_KEY', 'secret-thing with a space'],
    ['LASTCALL_MODEL', 'a b'],
    ['LASTCALL_TRUSTED_PROXIES', 'proxy.example.com'],
    ['LASTCALL_TRUSTED_PROXIES', '10.0.0.0/33'],
    ['LASTCALL_TRUSTED_PROXIES', '0x7f.1'],
    ['LASTCALL_MODEL_URL', 'ftp://secret-thing'],
    ['LASTCALL_LEASE_MS', '10s'],
    ['LASTCALL_LEASE_MS', '1'],
    ['LASTCALL_LOG_LEVEL', 'loud'],
  ])('%s=%s is refused, naming the variable and no secret', (variable, value) => {
    const read = (): unknown => readEnv({ [variable]: value });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(new RegExp(`^environment: ${variable}(\\[0\\])? must be `));
    expect(read).not.toThrow(/secret-thing/);
  });

  test.each(['DATABASE_URL', 'DATABASE_DIRECT_URL'])(
    '[S18] what %s must be can be read where secrets are removed',
    (variable) => {
      let message = '';
      try {
        readEnv({ [variable]: 'mysql://secret-thing' });
      } catch (error) {
        message = (error as Error).message;
      }
      expect(message).toContain('must be a PostgreSQL URL');
      expect(createRedact()(message)).toBe(message);
    },
  );

  test('a model of your own server needs its URL', () => {
    expect(() => readEnv({ LASTCALL_MODEL: 'openai-compatible/m' })).toThrow(/LASTCALL_MODEL_URL is missing/);
  });

  test('[S16] the URL of that server can be in the configuration file', () => {
    const env = { LASTCALL_MODEL: 'openai-compatible/m' };
    expect(readEnv(env, { modelUrl: 'http://127.0.0.1:11434/v1' })).toEqual({ model: 'openai-compatible/m' });
  });

  test.each([
    ['DATABASE_DIRECT_URL', { DATABASE_DIRECT_URL: 'postgres://localhost/db' }, {}],
    ['databaseDirectUrl of the configuration', {}, { databaseDirectUrl: 'postgres://localhost/db' }],
  ])(
    '[S18] %s without the URL of the database is refused, because the gateway would begin anew on SQLite',
    (name, env, file) => {
      expect(() => readEnv(env, file)).toThrow(
        `environment: DATABASE_URL is missing, and ${name} is set. Set both, or neither for SQLite.`,
      );
      expect(() => readEnv(env, { ...file, databaseUrl: 'postgres://pooler/db' })).not.toThrow();
    },
  );

  test.each(['https://a.example.com/lastcall', 'https://a.example.com/?a=1', 'https://a.example.com/#a'])(
    '[S18] the public URL %s is refused, because links would lose what is behind its host',
    (LASTCALL_PUBLIC_URL) => {
      expect(() => readEnv({ LASTCALL_PUBLIC_URL })).toThrow('must be an http or https URL without a path');
      expect(readEnv({ LASTCALL_PUBLIC_URL: 'https://a.example.com/' })).toEqual({
        publicUrl: 'https://a.example.com/',
      });
    },
  );

  test('a URL of a database that cannot be used is not called missing too', () => {
    const env = { DATABASE_URL: 'mysql://pooler/db', DATABASE_DIRECT_URL: 'postgres://localhost/db' };
    expect(() => readEnv(env)).toThrow(/^environment: DATABASE_URL must be a PostgreSQL URL, [^\n]*$/);
  });

  test('a URL of a model that cannot be used is not called missing too', () => {
    const env = { LASTCALL_MODEL: 'openai-compatible/m', LASTCALL_MODEL_URL: '127.0.0.1:11434' };
    expect(() => readEnv(env)).toThrow(/^environment: LASTCALL_MODEL_URL must be an http or https URL, [^\n]*$/);
  });

  test('[G55] by default the gateway listens on loopback only', () => {
    expect(resolveSettings({}, {})).toEqual(DEFAULT_SETTINGS);
    expect(DEFAULT_SETTINGS).toMatchObject({ host: '127.0.0.1', port: 4100, leaseMs: 10_000 });
  });

  test('the first source that sets a value counts', () => {
    expect(resolveSettings({ port: 0 }, { port: 5, host: 'a' })).toMatchObject({ port: 0, host: 'a' });
  });
});
