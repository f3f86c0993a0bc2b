/** What the rehearsal says of itself, once. */
export const CONFESSION = 'This is a rehearsal: I follow simple rules and am not a language model.';
