import { type ReachingOut, reachingOut } from '../../domain/agents/reaching-out.ts';
import { ApiError } from '../../domain/api-error.ts';
import { hasScope } from '../../domain/keys/scope.ts';
import { type Caller, scopesOf } from '../caller.ts';

type Config = Readonly<Record<string, unknown>>;

/**
 * Refuses a configuration that makes the gateway connect to addresses of the caller's choice, unless the caller has an admin key.
 * Registering such a tool needs the same scope, since it may send every listed secret there. Addresses that the agent already has
 * may stay.
 */
export async function assertMayReachOut(
  caller: Caller,
  config: Config,
  before: () => Promise<Config> = async () => ({}),
): Promise<void> {
  if (hasScope(scopesOf(caller), 'admin')) return;
  const asked = reachingOut(config);
  if (asked.length === 0) return;
  const known = new Set(reachingOut(await before()).map(({ content }) => content));
  const added = asked.find(({ content }) => !known.has(content));
  if (added !== undefined) throw refuse(added);
}

function refuse({ path }: ReachingOut): ApiError {
  const message = `${path} makes the gateway connect to an address that it names. That needs a secret key with scope "admin", as registering a tool does.`;
  return new ApiError('forbidden', message, { details: { path } });
}
