import { show } from '../../kit/show.ts'
import { ESCAPE, type NameRule } from '../raw-name.ts'

/**
 * Returns the rule for the names of locks. The rule keeps all keys of a lock in one cluster slot,
 * and the keys of two locks apart.
 *
 * @param clustered true if the server is a cluster
 */
export function nameRule(clustered: boolean): NameRule {
  return (rawName, thing) => {
    const open = rawName.indexOf('{')
    if (open !== -1 && rawName.indexOf('}', open) <= open + 1) {
      return (
        'has a broken {tag}. After "{" there must be a tag and "}"; ' +
        `otherwise the keys of the ${thing} would not share a cluster slot. ${ESCAPE}`
      )
    }
    if (/^\{[^{]*\}$/.test(rawName)) {
      const inner = show(rawName.slice(1, -1))
      return (
        `is entirely in braces. This name and the name ${inner} would share some keys, so an acquisition of one name ` +
        `would also count for the other name. Use ${inner}, which has the same cluster slot, or add text before or ` +
        'after the {tag}.'
      )
    }
    if (clustered && open === -1 && rawName.includes('}')) {
      return (
        `has "}" without "{". In a cluster the keys of this ${thing} would be ` +
        'in two slots. Some of them are named "…:{name}", and this tag would end at the "}" in the name. Put a {tag} ' +
        `before this "}", or use another name. ${ESCAPE}`
      )
    }
    return undefined
  }
}
