/** How much of a text is shown before the user expands it. */
export const SHOWN_CHARACTERS = 2_000;
