import type { Member } from '@lastcall/client';
import { createContext, useContext } from 'react';

/** Where a card is shown. */
interface CardPlace {
  /** Of the space. Undefined where the card is not shown in one. */
  readonly members?: readonly Member[];
}

const Context = createContext<CardPlace>({});

export const CardPlaceProvider = Context.Provider;

export function useCardPlace(): CardPlace {
  return useContext(Context);
}
