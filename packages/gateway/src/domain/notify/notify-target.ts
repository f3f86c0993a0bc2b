import type { NotifiedPerson, NotifyEmail, NotifyEvent } from '../../config/notify-config.ts';

/** A target of the configuration, with its secrets. */
export interface NotifyTarget {
  readonly name: string;
  readonly project: string;
  readonly events: readonly NotifyEvent[];
  /** Names. Undefined: all agents of the project. */
  readonly agents: readonly string[] | undefined;
  /** Whom its links act for. `answerers`: everyone who may answer the call. Undefined: its links need a sign-in. */
  readonly recipient: NotifiedPerson | 'answerers' | undefined;
  readonly includesInput: boolean;
  readonly linkMs: number;
  readonly channel: NotifyChannel;
}

/** How a target is reached. */
export type NotifyChannel =
  | { readonly kind: 'webhook'; readonly url: string; readonly secrets: readonly string[] }
  | { readonly kind: 'slack'; readonly url: string }
  | MailChannel;

export interface MailChannel extends Pick<NotifyEmail, 'host' | 'from'> {
  readonly kind: 'email';
  readonly port: number;
  readonly tls: 'starttls' | 'implicit' | 'none';
  readonly login: { readonly user: string; readonly password: string } | undefined;
  /** Undefined: the address of the person. */
  readonly to: string | undefined;
}

/** By name. */
export type OpenTargets = ReadonlyMap<string, NotifyTarget>;
