import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { hideSecrets } from './hide-secrets.ts';
import { toPlainJson } from './plain-json.ts';
import { mapTexts, VolatileIds } from './volatile.ts';

export interface CassetteOptions {
  /** Texts that must not be in the file, such as passwords of tools. They read `[secret]`. */
  readonly secrets?: readonly string[];
  /** What else differs in each run, such as order numbers. Each match is treated like an id. */
  readonly volatile?: readonly RegExp[];
}

/** A request in the form of a cassette. Two requests are the same if this is the same. */
export interface NormalRequest {
  readonly messages: readonly unknown[];
  readonly tools: unknown;
  readonly settings: Readonly<Record<string, unknown>>;
  /** All of it as one text. */
  readonly key: string;
  readonly ids: VolatileIds;
}

/** Neither headers nor signals are part of a request, and neither is what only the caller of the model sees. */
export function normalise(request: LanguageModelV4CallOptions, options: CassetteOptions = {}): NormalRequest {
  const { prompt, tools, abortSignal: _s, headers: _h, includeRawChunks: _r, ...settings } = request;
  const ids = new VolatileIds(options.volatile);
  const hide = hideSecrets(options.secrets);
  const normal = (value: unknown): unknown => mapTexts(toPlainJson(value), (text) => ids.hide(hide(text)));
  const messages = prompt.map(normal);
  const shown = {
    messages,
    tools: tools === undefined || tools.length === 0 ? undefined : normal(tools),
    settings: normal(settings) as Readonly<Record<string, unknown>>,
  };
  return { ...shown, key: JSON.stringify(shown), ids };
}
