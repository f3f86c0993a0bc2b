/** Makes a new id, unique wherever the ids of one session meet. */
export type NewId = () => string;
