import {
  type ComponentType,
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useContext,
  useMemo,
} from 'react';
import type { Client } from '../create-client.ts';
import type { CardProps, CardState } from './card.ts';
import { FallbackCard } from './fallback-card.ts';

/** Components that show calls, by the name that a tool sets as `display.customUI`, or by the tool's name. */
// biome-ignore lint/suspicious/noExplicitAny: each component knows the input and the result of its tool.
export type CardComponents = Readonly<Record<string, ComponentType<CardProps<any, any>>>>;

export interface LastcallContext {
  readonly client: Client;
  readonly components: CardComponents;
  readonly fallback: ComponentType<CardProps>;
  /**
   * The states of sent answers, by the wait they answer: a card that is scrolled out of view must find its state when
   * it is shown again.
   */
  readonly sent: Map<string, CardState>;
}

const Context = createContext<LastcallContext | undefined>(undefined);

export interface LastcallProviderProps {
  readonly client: Client;
  readonly components?: CardComponents;
  /** Shows the calls for which no component is registered. Default: `FallbackCard`. */
  readonly fallback?: ComponentType<CardProps>;
  readonly children?: ReactNode;
}

/** Gives the hooks and cards below it a client, and the components that show calls. */
export function LastcallProvider({
  client,
  components = NONE,
  fallback = FallbackCard,
  children,
}: LastcallProviderProps): ReactElement {
  const sent = useMemo(() => new Map<string, CardState>(), [client]);
  const value = useMemo(() => ({ client, components, fallback, sent }), [client, components, fallback, sent]);
  return createElement(Context.Provider, { value }, children);
}

const NONE: CardComponents = {};

export function useLastcall(): LastcallContext {
  const context = useContext(Context);
  if (context === undefined)
    throw new Error('There is no LastcallProvider around this component. Put one around the page.');
  return context;
}
