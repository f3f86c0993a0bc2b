/** How many worlds `npm test` runs: law Z6. They take less than a minute of a processor. */
export const FIXED_WORLDS = 300;
export const NEW_WORLDS = 100;
