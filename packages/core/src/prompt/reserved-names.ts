/** Names of tools that the runtime itself defines. A section's tool of that name would shadow it or be shadowed. */
export const RESERVED: readonly string[] = Object.freeze(['open_sections', 'read_section', 'rewind']);
