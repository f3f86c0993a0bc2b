import { describe, expect, test } from 'vitest';
import { checkConfig } from '../../src/config/check-config.ts';
import { createGateway } from '../../src/gateway.ts';
import { KEY } from './desk.ts';

const webhook = { url: 'https://example.com/notify', signingSecret: '${env.NOTIFY_KEY}' };
const email = { host: 'smtp.example.com', from: 'lastcall@example.com', to: 'ops@example.com' };
const secrets = ['NOTIFY_KEY', 'SMTP_PASSWORD', 'SLACK_URL'];
const problemOf = (target: object, name = 'ops'): string => {
  try {
    checkConfig({ notify: { [name]: target }, secrets });
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('the configuration of notifications', () => {
  test.each([
    { webhook },
    { webhook: { ...webhook, signingSecret: ['${env.NOTIFY_KEY}', '${env.SLACK_URL}'] } },
    { email },
    { email: { ...email, tls: 'implicit', user: '${env.NOTIFY_KEY}', password: '${env.SMTP_PASSWORD}' } },
    { email: { ...email, to: 'answerers' }, events: ['call.waiting', 'call.expiring'] },
    { slack: { url: '${env.SLACK_URL}' }, agents: ['Clerk'], project: 'acme', include: 'input', linkHours: 2 },
    { webhook, person: { externalId: 'ada' } },
  ])('[O8] a target may be %j', (target) => {
    expect(problemOf(target)).toBe('');
  });

  test.each([
    [{}, 'must have exactly one of "webhook", "email" and "slack"'],
    [{ webhook, slack: { url: '${env.SLACK_URL}' } }, 'must have exactly one of'],
    [{ webhook: { ...webhook, signingSecret: 'plain' } }, 'must be "${env.NAME}"'],
    [{ webhook: { ...webhook, signingSecret: '${env.OTHER}' } }, 'names OTHER, which is not on the list "secrets"'],
    [{ webhook: { ...webhook, url: 'ftp://example.com' } }, 'must be an http or https URL'],
    [{ slack: { url: 'https://hooks.example.com/T/B' } }, 'must be "${env.NAME}"'],
    [{ webhook, events: ['all'] }, 'must be one of call.waiting'],
    [{ webhook, person: {} }, 'must have either "externalId" or "id"'],
    [{ webhook, person: { externalId: 'a', id: 'b' } }, 'must have either "externalId" or "id"'],
    [{ webhook, linkHours: 200 }, 'linkHours'],
    [{ email: { ...email, to: 'a@example.com, b@example.com' } }, 'must be one e-mail address'],
    [{ email: { ...email, from: 'x@example.com\r\nBcc: y@example.com' } }, 'must be one e-mail address'],
    [{ email: { ...email, host: 'http://smtp' } }, 'must be the name of a mail server'],
    [{ email: { ...email, user: '${env.NOTIFY_KEY}' } }, 'must have both "user" and "password"'],
    [
      { email: { ...email, tls: 'none', user: '${env.NOTIFY_KEY}', password: '${env.SMTP_PASSWORD}' } },
      'must not be "none" with a password',
    ],
    [{ email: { ...email, to: 'answerers' } }, 'only calls have answerers'],
    [{ email: { ...email, to: 'answerers' }, events: ['call.waiting'], person: { id: 'x' } }, 'must be left out'],
  ])('[O8] the target %j is refused: %s', (target, problem) => {
    expect(problemOf(target)).toContain(problem);
  });

  test('[O8] names of targets are short and plain, and there are at most 50', () => {
    expect(problemOf({ webhook }, 'a b')).toContain('must have a name of 1–64 letters');
    const notify = Object.fromEntries(Array.from({ length: 51 }, (_one, index) => [`t${index}`, { webhook }]));
    expect(() => checkConfig({ notify, secrets })).toThrow('must have at most 50 targets');
  });

  test('[O8] a gateway does not start without the secrets of its targets', () => {
    const open = (env: Record<string, string>, target: object) => () =>
      createGateway({ notify: { ops: target }, secrets, env, logLevel: 'silent' });
    expect(open({}, { webhook })).toThrow('NOTIFY_KEY is needed by notify.ops.webhook.signingSecret');
    expect(open({ NOTIFY_KEY: 'too short' }, { webhook })).toThrow('16 characters or more');
    expect(open({ SLACK_URL: 'no-url' }, { slack: { url: '${env.SLACK_URL}' } })).toThrow('incoming webhook');
    expect(open({ NOTIFY_KEY: KEY }, { webhook })).not.toThrow();
  });
});
