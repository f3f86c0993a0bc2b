import { type ComponentType, createContext, createElement, type ReactElement, type ReactNode, useContext } from 'react';
import type { Client } from '../create-client.ts';
import type { CardProps } from './card.ts';

/** Components that show calls: by the name that a tool gives as `display.customUI`, or by the tool's own name. */
// biome-ignore lint/suspicious/noExplicitAny: each component knows the input and the result of its own tool.
export type CardComponents = Readonly<Record<string, ComponentType<CardProps<any, any>>>>;

export interface LastcallContext {
  readonly client: Client;
  readonly components: CardComponents;
}

const Context = createContext<LastcallContext | undefined>(undefined);

export interface LastcallProviderProps {
  readonly client: Client;
  readonly components?: CardComponents;
  readonly children?: ReactNode;
}

/** Gives the hooks and cards below it a client, and the components that show calls. */
export function LastcallProvider({ client, components = NONE, children }: LastcallProviderProps): ReactElement {
  return createElement(Context.Provider, { value: { client, components } }, children);
}

const NONE: CardComponents = {};

export function useLastcall(): LastcallContext {
  const context = useContext(Context);
  if (context === undefined)
    throw new Error('There is no LastcallProvider around this component. Put one around the page.');
  return context;
}
