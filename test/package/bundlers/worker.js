import 'holdfast/renewal-worker'
