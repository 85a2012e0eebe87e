import { useData, withBase } from 'vitepress'
import { defineComponent, h, onMounted, ref, watch } from 'vue'

let loading
let drawn = 0

/** The script is large, so only pages with a diagram load it. They load it from the site itself. */
function loadMermaid() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = withBase('/mermaid.js')
    script.onload = () => resolve(globalThis.mermaid)
    script.onerror = () => reject(new Error('The script that draws diagrams could not be loaded.'))
    document.head.append(script)
  })
  return loading
}

/** A diagram, as a picture in the colours of the page. Until the picture is drawn, the page shows its text. */
export const MermaidDiagram = defineComponent({
  props: { code: { type: String, required: true } },
  setup(props) {
    const { isDark } = useData()
    const svg = ref('')
    const draw = async () => {
      const mermaid = await loadMermaid()
      const theme = isDark.value ? 'dark' : 'default'
      mermaid.initialize({
        startOnLoad: false,
        securityLevel: 'strict',
        theme,
        fontFamily: 'inherit',
      })
      const result = await mermaid.render(`diagram-${drawn++}`, decodeURIComponent(props.code))
      svg.value = result.svg
    }
    onMounted(draw)
    watch(isDark, draw)
    return () =>
      svg.value === ''
        ? h('pre', { class: 'mermaid-diagram' }, decodeURIComponent(props.code))
        : h('div', { class: 'mermaid-diagram', 'data-drawn': true, innerHTML: svg.value })
  },
})
