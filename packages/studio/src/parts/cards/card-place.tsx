import type { Member } from '@lastcall/client';
import { createContext, useContext } from 'react';

/** Where a card is shown. */
interface CardPlace {
  /** The members of the space. Undefined if the card is not shown in one. */
  readonly members?: readonly Member[];
}

const Context = createContext<CardPlace>({});

export const CardPlaceProvider = Context.Provider;

export function useCardPlace(): CardPlace {
  return useContext(Context);
}
