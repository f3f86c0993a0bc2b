/** One thing that a person or a client does. */
export type Action =
  | { readonly kind: 'post'; readonly at: number; readonly ref: string; readonly agent: string; readonly what: string }
  | {
      readonly kind: 'plan';
      readonly at: number;
      readonly ref: string;
      readonly agent: string;
      readonly afterMs: number;
    }
  | { readonly kind: 'delete' | 'revoke'; readonly at: number; readonly ref: string; readonly agent: string }
  | { readonly kind: 'chat'; readonly at: number; readonly ref: string; readonly agent: string; readonly what: string };
