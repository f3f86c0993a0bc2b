import type { Member } from '@lastcall/client';
import { createContext, useContext } from 'react';

/** Where a card is shown. */
interface CardPlace {
  /** The members of the space. Undefined if the card is not shown in one. */
  readonly members?: readonly Member[];
  /** True if only this call can be decided here, as with the link of a notification. */
  readonly isOneCall?: boolean;
}

const Context = createContext<CardPlace>({});

export const CardPlaceProvider = Context.Provider;

export function useCardPlace(): CardPlace {
  return useContext(Context);
}
