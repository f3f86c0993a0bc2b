import { ConfigError } from '../config/config-error.ts';
import { DEFAULT_PROJECT } from '../config/default-project.ts';
import { envNameOf } from '../config/hook-config.ts';
import { DEFAULT_LINK_HOURS, NOTIFY_EVENTS, type NotifyConfig, type NotifyTargets } from '../config/notify-config.ts';
import type { NotifyChannel, NotifyTarget, OpenTargets } from '../domain/notify/notify-target.ts';
import type { Secrets } from '../telemetry/secrets.ts';
import { readSecret } from './read-secret.ts';

/** Reads the secrets of the targets. Throws a ConfigError for one that is missing: such a target cannot work. */
export function openTargets(targets: NotifyTargets, secrets: Secrets): OpenTargets {
  return new Map(Object.entries(targets).map(([name, target]) => [name, openTarget(name, target, secrets)]));
}

function openTarget(name: string, target: NotifyConfig, secrets: Secrets): NotifyTarget {
  const { events = NOTIFY_EVENTS, agents, project = DEFAULT_PROJECT, person, include } = target;
  const linkMs = Math.round((target.linkHours ?? DEFAULT_LINK_HOURS) * 3_600_000);
  return {
    name,
    project,
    events,
    agents,
    recipient: target.email?.to === 'answerers' ? 'answerers' : person,
    includesInput: include === 'input',
    linkMs,
    channel: openChannel(name, target, secrets),
  };
}

function openChannel(name: string, { webhook, email, slack }: NotifyConfig, secrets: Secrets): NotifyChannel {
  const read = (template: string, path: string, shortest?: number): string =>
    readSecret(secrets, {
      variable: envNameOf(template),
      path: `notify.${name}.${path}`,
      ...(shortest === undefined ? {} : { shortest }),
    });
  if (webhook !== undefined) {
    const keys = [webhook.signingSecret].flat().map((one) => read(one, 'webhook.signingSecret', SHORTEST_KEY));
    return { kind: 'webhook', url: webhook.url, secrets: keys };
  }
  if (slack !== undefined) {
    const url = read(slack.url, 'slack.url');
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new ConfigError('environment', [
        {
          path: envNameOf(slack.url),
          message: `must be the URL of an incoming webhook: notify.${name}.slack.url needs it.`,
        },
      ]);
    return { kind: 'slack', url };
  }
  if (email === undefined) throw new TypeError(`The target ${name} has no channel.`);
  const { host, from, to, user, password, tls = 'starttls' } = email;
  const port = email.port ?? (tls === 'implicit' ? 465 : 587);
  const login =
    user === undefined || password === undefined
      ? undefined
      : { user: read(user, 'email.user'), password: read(password, 'email.password') };
  return { kind: 'email', host, port, tls, from, to: to === 'answerers' ? undefined : to, login };
}

/** With a shorter one, a person who has seen one request can find out the secret. */
const SHORTEST_KEY = 16;
