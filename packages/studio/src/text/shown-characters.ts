/** How much of a text is shown before somebody asks for all of it. */
export const SHOWN_CHARACTERS = 2_000;
