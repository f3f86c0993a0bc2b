import { ClientError } from '@lastcall/client';

export interface SignInWords {
  readonly title: string;
  /** What to do next. */
  readonly advice: string;
}

/** What a refused sign-in means, and what to do about it. */
export function signInWords(error: unknown): SignInWords {
  if (!(error instanceof ClientError)) return { title: 'You are not signed in.', advice: 'Try again.' };
  switch (error.code) {
    case 'link_not_valid': {
      const { reason } = (error.details ?? {}) as { readonly reason?: unknown };
      return LINKS[reason === 'used' || reason === 'expired' || reason === 'revoked' ? reason : 'unknown'];
    }
    case 'too_many_attempts':
      return { title: 'Too many tries.', advice: 'Nothing is locked: wait until the time is over, then try again.' };
    case 'unauthorized':
      return {
        title: 'You are not signed in.',
        advice:
          'Did you copy the whole key? If the gateway made it, it begins with lc_sk_; the key in LASTCALL_SECRET_KEY may be any text. It may also have been revoked: ask for a new one.',
      };
    case 'cross_origin':
      return {
        title: 'This page does not come from the gateway.',
        advice: 'Open the studio at the address that the gateway prints, on https or on this computer.',
      };
    case 'unreachable':
      return { title: 'The gateway does not respond.', advice: 'Is it running? Nothing was changed: try again.' };
    default:
      return { title: 'You are not signed in.', advice: 'Nothing was changed.' };
  }
}

const ANOTHER = 'Create a new one with `lastcall open`, ask the person who sent it to you, or sign in with a key.';

const LINKS = {
  used: {
    title: 'This link has already been used.',
    advice: `A link works once. If you did not use it, tell the operator of the gateway, who can end its session. ${ANOTHER}`,
  },
  expired: { title: 'This link has expired.', advice: `It was not used in time. ${ANOTHER}` },
  revoked: {
    title: 'This link no longer works.',
    advice: `It was revoked, or the key or session that made it was, or the person it was for was deleted. ${ANOTHER}`,
  },
  unknown: { title: 'The gateway does not know this link.', advice: `Did you copy all of it? ${ANOTHER}` },
} as const;

/** When the next attempt is allowed, in milliseconds since the epoch. */
export function retryAt(error: unknown, now: number): number | undefined {
  const wait = error instanceof ClientError ? error.retryAfterMs : undefined;
  return wait === undefined ? undefined : now + wait;
}
