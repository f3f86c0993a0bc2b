import type { CardComponents } from '@lastcall/client/react';

/** The components that show calls, by `display.customUI` or the tool's name. */
export const cards: CardComponents = {};
