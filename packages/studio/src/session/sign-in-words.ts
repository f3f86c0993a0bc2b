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
        advice: 'Was all of the key copied? It begins with lc_sk_. It may also have been revoked: ask for a new one.',
      };
    case 'cross_origin':
      return {
        title: 'This page is not the gateway’s own.',
        advice: 'Open the studio at the address that the gateway prints, on https or on this computer.',
      };
    case 'unreachable':
      return { title: 'The gateway does not answer.', advice: 'Is it running? Nothing was changed: try again.' };
    default:
      return { title: 'You are not signed in.', advice: 'Nothing was changed.' };
  }
}

const ANOTHER = 'Make another one with `lastcall open`, ask whoever sent it to you, or sign in with a key.';

const LINKS = {
  used: {
    title: 'This link was used already.',
    advice: `A link signs in once. If that was not you, tell whoever runs the gateway: they can end its session. ${ANOTHER}`,
  },
  expired: { title: 'This link has expired.', advice: `Nobody used it in time. ${ANOTHER}` },
  revoked: {
    title: 'This link does not sign in any more.',
    advice: `It was revoked, or the key or session that made it was, or the person it was for was deleted. ${ANOTHER}`,
  },
  unknown: { title: 'The gateway does not know this link.', advice: `Was all of it copied? ${ANOTHER}` },
} as const;

/** When another try may count, in milliseconds since 1970. */
export function retryAt(error: unknown, now: number): number | undefined {
  const wait = error instanceof ClientError ? error.retryAfterMs : undefined;
  return wait === undefined ? undefined : now + wait;
}
